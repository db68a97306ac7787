/** Pages of a database, page numbers ascending within a batch and from batch to batch. `bytes` holds them one after another. */
export interface PageBatch {
  readonly numbers: Uint32Array;
  readonly bytes: Uint8Array;
}
