import type { Sample } from "../domain/metrics.ts";

/** Counts values by the bucket they fall into. */
export class Histogram {
  readonly #counts: Float64Array;
  #sum = 0;

  /** @param bounds the largest value of each bucket, rising; one more bucket takes what is above */
  constructor(private readonly bounds: readonly number[]) {
    this.#counts = new Float64Array(bounds.length + 1);
  }

  add(value: number): void {
    const { bounds } = this;
    let bucket = 0;
    while (bucket < bounds.length && value > (bounds[bucket] as number)) bucket++;
    this.#counts[bucket] = (this.#counts[bucket] as number) + 1;
    this.#sum += value;
  }

  /** Its numbers, where each bucket contains those below. */
  samples(labels: Sample["labels"]): Sample[] {
    let count = 0;
    const buckets = [...this.#counts].map((own, i): Sample => {
      count += own;
      const bound = this.bounds[i];
      const le = bound === undefined ? "+Inf" : String(bound);
      return { part: "bucket", labels: { ...labels, le }, value: count };
    });
    return [...buckets, { part: "sum", labels, value: this.#sum }, { part: "count", labels, value: count }];
  }
}
