/** Ports on this machine. */
export interface ReceiverPlan {
  readonly accepting: readonly number[];
  readonly hanging: readonly number[];
}

/** POSTs that are sent as plainly as can be. */
export interface SenderPlan {
  /** In turn. */
  readonly ports: readonly number[];
  readonly count: number;
  /** Under way at once. */
  readonly connections: number;
  readonly body: string;
}
