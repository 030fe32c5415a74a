/**
 * state: simulator state as documents. A profile says what a device should be like; it is composed with layers, compared with what the device was
 * seen to have, and becomes a plan, which is carried out only when it was confirmed. Everything but reading a device and running a command is pure.
 */
export type * from "./types.ts";
export { readRequestFor } from "./reading/read-request.ts";
export { createReader, type ReaderOptions } from "./reading/reader.ts";
export { simctlRunner, type SimctlRunnerOptions, type XcrunCommand } from "./reading/simctl-runner.ts";
export { compose, type Composed, type Overlay } from "./documents/compose.ts";
export { decodePlan } from "./documents/decode-plan.ts";
export { encodeProfile, encodeProfileText } from "./documents/encode.ts";
export { type Exported, exportProfile } from "./documents/export.ts";
export { type JsonSchema, jsonSchemaOf, SCHEMAS } from "./documents/json-schemas.ts";
export { lint, type LintCode, lintFiles, type LintWarning } from "./documents/lint.ts";
export {
  type DocumentPorts,
  type DocumentSource,
  type LoadedProfile,
  loadLayer,
  loadProfile,
  loadSnapshot,
} from "./documents/load.ts";
export { type Preset, presets } from "./documents/presets.ts";
export { readDocumentText } from "./documents/read-text.ts";
export type { Provenance, ProvenanceEntry, Said, Source } from "./documents/provenance.ts";
export { applyPlan, type ApplyOptions, type ApplyPorts } from "./applying/apply.ts";
export type { Progress } from "./applying/execute.ts";
export { deviceOfJournal } from "./applying/journal.ts";
export { resumeApply, type ResumeOptions, rollbackApply } from "./applying/resume.ts";
export { type BundleFacts, readBundles } from "./planning/bundle-facts.ts";
export { isOpen } from "./planning/drift.ts";
export { explainPlan } from "./planning/explain.ts";
export { diffOf, planNewDevice, type PlanOptions, planState, verifyState } from "./planning/plan.ts";
export { type CreateIntent, type ResolvedTarget, resolveTarget } from "./planning/target.ts";
export { createStateTools, STATE_INSTRUCTIONS, type StateToolsOptions } from "./tools/state-tools.ts";
