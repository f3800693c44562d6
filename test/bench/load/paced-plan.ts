/** Requests that are sent at set times, however long earlier ones take. */
export interface PacedPlan {
  readonly port: number;
  readonly kinds: readonly PacedKind[];
  /** Of each kind. */
  readonly perSecond: number;
  readonly ms: number;
}

export interface PacedKind {
  readonly name: string;
  readonly method: "GET" | "POST";
  /** Asked in turn. */
  readonly paths: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  /** Whether each has an `Idempotency-Key` of its own. */
  readonly isKeyed?: boolean;
  readonly body?: string;
}

/** What the answers of a kind took, in milliseconds since they were due. */
export interface PacedResult {
  readonly name: string;
  readonly count: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly mostMs: number;
}
