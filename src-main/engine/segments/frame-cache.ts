/** Decoded frames of one store, least recently used out first, within a budget of bytes. */
export class FrameCache {
  readonly #bytesMax: number;
  readonly #frames = new Map<string, Uint8Array>();
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get(key: string): Uint8Array | undefined {
    const frame = this.#frames.get(key);
    if (frame) {
      this.#frames.delete(key);
      this.#frames.set(key, frame);
    }
    return frame;
  }

  put(key: string, frame: Uint8Array): void {
    this.#bytes += frame.length - (this.#frames.get(key)?.length ?? 0);
    this.#frames.delete(key);
    this.#frames.set(key, frame);
    for (const [oldest, bytes] of this.#frames) {
      if (this.#bytes <= this.#bytesMax) return;
      this.#frames.delete(oldest);
      this.#bytes -= bytes.length;
    }
  }
}
