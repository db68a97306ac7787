/**
 * Where segment files live. Objects are immutable and have random names, so that writing one never meets another, and
 * whoever knows a name may read it at any time. Calls that a bucket answers over the network are asynchronous; what is
 * opened is local enough to be found and read at once.
 */
export interface ObjectStore {
  /**
   * Makes the finished temporary file `temporary` the object `name`, durably: when this returns, a power cut does not take
   * it away. The temporary file is gone then. Refuses with `file-exists` when there is such an object.
   */
  put(name: string, temporary: string): Promise<void>;
  /** Null when there is no such object. Nothing needs closing. */
  open(name: string): StoredObject | null;
  /** Returns false when nothing was there. */
  remove(name: string): Promise<boolean>;
  /** All objects, sorted by name. */
  list(): Promise<ObjectEntry[]>;
  close(): void;
}

export interface ObjectEntry {
  readonly name: string;
  /** Bytes. */
  readonly size: number;
  /** When it was put there, by the store's own clock. */
  readonly storedAt: number;
}

/** Bytes that can be read anywhere: an open object, or a segment that is kept inside the catalog. */
export interface StoredObject {
  readonly size: number;
  /** Fills `buffer` from `position` on; returns the bytes read, fewer only where the object ends. */
  read(position: number, buffer: Uint8Array): number;
  /** Says what will be read soon, where that makes it sooner there. */
  willRead?(position: number, length: number): void;
}
