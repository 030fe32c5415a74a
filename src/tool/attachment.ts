/** What a tool sends beside its structured content. */
export type Attachment =
  | { readonly kind: "image"; readonly bytes: Uint8Array; readonly mimeType: string }
  | {
      readonly kind: "resource_link";
      readonly uri: string;
      readonly name: string;
      readonly mimeType: string;
      readonly description?: string;
      /** In bytes. */
      readonly size?: number;
    };
