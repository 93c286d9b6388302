// Decoded parts of a page in memory: at most a fixed number of them. The least recently used one is dropped, and loaded
// again when it is needed.

/** Parts by number. */
export class Cache<T> {
  /** The number of parts that there are, loaded or not. */
  readonly length: number;
  /** The most parts that are kept. */
  readonly most: number;
  private readonly parts: (T | null)[];
  private readonly loads: (Promise<void> | null)[];
  /** When each part was used last, counted in uses. */
  private readonly used: Float64Array;
  private uses = 0;
  private kept = 0;

  constructor(length: number, most: number) {
    this.length = length;
    this.most = most;
    this.parts = new Array(length).fill(null);
    this.loads = new Array(length).fill(null);
    this.used = new Float64Array(length);
  }

  get(k: number): T | null {
    const part = this.parts[k] ?? null;
    if (part) {
      this.uses += 1;
      this.used[k] = this.uses;
    }
    return part;
  }

  /** A part if it is loaded; does not count as a use. */
  peek(k: number): T | null {
    return this.parts[k] ?? null;
  }

  /** Keeps a part, and drops another one if there are too many. */
  set(k: number, part: T): void {
    if (!this.parts[k]) this.kept += 1;
    this.parts[k] = part;
    this.get(k);
    if (this.kept <= this.most) return;
    let oldest = -1;
    for (let other = 0; other < this.length; other += 1) {
      if (!this.parts[other]) continue;
      if (oldest < 0 || this.used[other]! < this.used[oldest]!) oldest = other;
    }
    this.parts[oldest] = null;
    this.loads[oldest] = null;
    this.kept -= 1;
  }

  /** Loads a part unless it is loaded already. Several requests share one load; one that failed is not repeated. */
  load(k: number, fetch: () => Promise<void>): Promise<void> {
    if (this.parts[k] || k < 0 || k >= this.length) return Promise.resolve();
    this.loads[k] ??= fetch();
    return this.loads[k]!;
  }
}
