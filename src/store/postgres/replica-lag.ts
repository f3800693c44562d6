/** Looks that are remembered while a replica takes in nothing: an hour of them. */
const MOST_POINTS = 3_600;

/** How far a replica is behind, from how far the primary's log had come at some moments. No clock of a server has a part in it. */
export function createLag(elapsed: () => number) {
  /** What the replica has not reached yet, oldest first. */
  const points: { readonly position: number; readonly at: number }[] = [];
  let freshAt: number | undefined;
  return {
    /** The primary had come so far then. */
    note(position: number, at: number): void {
      // A standby took over that did not have all: what went beyond is no more.
      if (position < (points.at(-1)?.position ?? 0)) points.length = 0;
      if (points.length < MOST_POINTS) points.push({ position, at });
    },
    /** The replica has all up to there. */
    reached(position: number): void {
      const ahead = points.findIndex((point) => point.position > position);
      const [latest] = points.splice(0, ahead === -1 ? points.length : ahead).slice(-1);
      freshAt = latest?.at ?? freshAt;
    },
    /** For how long the replica may lack something, in milliseconds; undefined while it has reached nothing. */
    ms: (): number | undefined => (freshAt === undefined ? undefined : elapsed() - freshAt),
  };
}
