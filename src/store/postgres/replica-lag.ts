/** How many measurements are kept while a replica receives nothing: an hour of them. */
const MOST_POINTS = 3_600;

/**
 * How far a replica is behind, computed from the positions of the primary's log at some moments. It uses no clock of a server.
 */
export function createLag(elapsed: () => number) {
  /** Positions that the replica has not reached yet, oldest first. */
  const points: { readonly position: number; readonly at: number }[] = [];
  let freshAt: number | undefined;
  return {
    /** The primary's log had reached this position then. */
    note(position: number, at: number): void {
      // A standby took over without having everything, so later positions no longer exist.
      if (position < (points.at(-1)?.position ?? 0)) points.length = 0;
      if (points.length < MOST_POINTS) points.push({ position, at });
    },
    /** The replica has everything up to this position. */
    reached(position: number): void {
      const ahead = points.findIndex((point) => point.position > position);
      const [latest] = points.splice(0, ahead === -1 ? points.length : ahead).slice(-1);
      freshAt = latest?.at ?? freshAt;
    },
    /** For how long the replica may lack something, in milliseconds; undefined if it has reached no position yet. */
    ms: (): number | undefined => (freshAt === undefined ? undefined : elapsed() - freshAt),
  };
}
