import type { RouteOfLane } from "../../domain/ports/route-store.ts";

/** Tells of routes and accounts that get tasks again. */
export interface Openings {
  /** @param listener called when the change is stored */
  subscribe(listener: (route: RouteOfLane) => void): void;
}

export function createOpenings(): Openings & { told(route: RouteOfLane): void } {
  const listeners: ((route: RouteOfLane) => void)[] = [];
  return {
    subscribe: (listener) => void listeners.push(listener),
    told(route) {
      for (const listener of listeners) listener(route);
    },
  };
}
