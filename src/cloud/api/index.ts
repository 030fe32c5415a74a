/** api: the Mobilerun API as a table of endpoints, and a typed client that calls them. */
export * from "./call-types.ts";
export { CloudError } from "./cloud-error.ts";
export type { CloudErrorCode } from "./cloud-error.ts";
export { createCloudApi } from "./create-cloud-api.ts";
export type { CloudApi, CloudApiOptions } from "./create-cloud-api.ts";
export type { Answer } from "./endpoint.ts";
export { HEADERS } from "./endpoint.ts";
export type { Body, Endpoint, HeaderName, Method, Retry, UploadedFile } from "./endpoint.ts";
export { allEndpoints, endpoints } from "./endpoints.ts";
export type { CloudLimits } from "./limits.ts";
export type { HttpAnswer } from "./read-answer.ts";
export { sendOverHttp, type Send } from "./send.ts";
export type { Pagination } from "./shapes.ts";
