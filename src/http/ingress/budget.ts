import { AppError, invalid } from "../../domain/errors.ts";

/** The most memory that all bodies being read may hold together. */
export interface IngressLimits {
  readonly bytes: number;
  /** How many bodies are read at once. Each also holds what Bun has read ahead. */
  readonly bodies: number;
  /** How many bytes of those that wait unread may be in memory, by what each may have there. */
  readonly waiting: number;
}

/** One body's share of the memory. */
export interface IngressShare {
  /** Counts bytes that are in memory now, whether or not there is room for them. */
  take(bytes: number): void;
  give(bytes: number): void;
  /** A promise to await before more is read; undefined while there is room. @throws AppError when the client leaves meanwhile */
  room(): Promise<void> | undefined;
  /** Gives everything back. */
  close(): void;
}

/** An owner may use this many times what is free: three quarters of the memory when it is alone, less as others come. */
const TIMES_FREE = 3;
const RETRY_AFTER_SEC = 5;

type Resource = keyof IngressLimits;

interface Owner extends Record<Resource, number> {
  readonly name: string;
  /** This body continues even without room. Otherwise bodies could wait for one another, and owners too. */
  foremost: object | undefined;
}

/** Counts what is used, and what of it is each owner's. */
function createUse(limits: IngressLimits) {
  const owners = new Map<string, Owner>();
  const used = { bytes: 0, bodies: 0, waiting: 0 };
  return {
    owner(name: string): Owner {
      const known = owners.get(name);
      if (known !== undefined) return known;
      const owner: Owner = { name, bytes: 0, bodies: 0, waiting: 0, foremost: undefined };
      owners.set(name, owner);
      return owner;
    },
    count(owner: Owner, what: Resource, change: number): void {
      owner[what] += change;
      used[what] += change;
      if (owner.bodies === 0 && owner.waiting === 0) owners.delete(owner.name);
    },
    leavesEnough: (owner: Owner, what: Resource, more: number) =>
      owner[what] + more <= TIMES_FREE * (limits[what] - used[what]),
  };
}

interface Place {
  readonly mayEnter: () => boolean;
  readonly enter: () => void;
}

/** Waiting bodies, in the order of their arrival. */
function createLine() {
  const line: Place[] = [];
  return {
    letOn(): void {
      for (let i = 0; i < line.length; ) {
        const place = line[i] as Place;
        if (place.mayEnter()) {
          line.splice(i, 1);
          place.enter();
        } else i += 1;
      }
    },
    /** Resolves when `mayEnter`, after `onEnter`. @throws AppError when the client leaves meanwhile */
    async wait(gone: AbortSignal, mayEnter: () => boolean, onEnter = () => {}): Promise<void> {
      const turn = Promise.withResolvers<void>();
      const enter = () => {
        onEnter();
        turn.resolve();
      };
      const place = { mayEnter, enter };
      line.push(place);
      const leave = () => {
        const at = line.indexOf(place);
        if (at === -1) return;
        line.splice(at, 1);
        turn.reject(invalid({ kind: "upload_abandoned" }));
      };
      gone.addEventListener("abort", leave, { once: true });
      if (gone.aborted) leave();
      try {
        await turn.promise;
      } finally {
        gone.removeEventListener("abort", leave);
      }
    },
  };
}

/**
 * Shares memory among the bodies that are being read, by the bytes that are there. Some memory is always left to others, and
 * one body of each owner always continues: an owner that holds nothing never waits.
 */
export function createIngressBudget(limits: IngressLimits) {
  const use = createUse(limits);
  const line = createLine();
  const hasRoom = (owner: Owner) => use.leavesEnough(owner, "bytes", 0);
  const hasPlace = (owner: Owner) =>
    owner.bodies === 0 || (use.leavesEnough(owner, "bodies", 1) && hasRoom(owner));

  function share(owner: Owner, gone: AbortSignal): IngressShare {
    const body = {};
    let heldBytes = 0;
    const take = (bytes: number) => {
      heldBytes += bytes;
      use.count(owner, "bytes", bytes);
    };
    const mayGoOn = () => {
      if (hasRoom(owner)) return true;
      owner.foremost ??= body;
      return owner.foremost === body;
    };
    return {
      take,
      give(bytes) {
        take(-bytes);
        line.letOn();
      },
      room: () => (mayGoOn() ? undefined : line.wait(gone, mayGoOn)),
      close() {
        if (owner.foremost === body) owner.foremost = undefined;
        take(-heldBytes);
        use.count(owner, "bodies", -1);
        line.letOn();
      },
    };
  }

  async function waitToEnter(owner: Owner, gone: AbortSignal, unreadBytes: number): Promise<void> {
    if (!use.leavesEnough(owner, "waiting", unreadBytes)) throw tooMany();
    use.count(owner, "waiting", unreadBytes);
    const mayEnter = () => hasPlace(owner);
    await line
      .wait(gone, mayEnter, () => use.count(owner, "bodies", 1))
      .finally(() => use.count(owner, "waiting", -unreadBytes));
  }

  return {
    /**
     * Opens one more body's share, once there is a place for it.
     * @param gone aborts when the client leaves
     * @param unreadBytes how much of it may be in memory while it waits
     * @throws AppError `service_unavailable` when too many wait already
     */
    async open(name: string, gone: AbortSignal, unreadBytes: number): Promise<IngressShare> {
      const owner = use.owner(name);
      if (owner.waiting === 0 && hasPlace(owner)) use.count(owner, "bodies", 1);
      else await waitToEnter(owner, gone, unreadBytes);
      return share(owner, gone);
    },
  };
}

function tooMany(): AppError {
  const facts = { kind: "too_many_uploads", retryAfterSec: RETRY_AFTER_SEC } as const;
  return new AppError("service_unavailable", facts, { retryAfterSec: RETRY_AFTER_SEC, shouldRetry: true });
}

export type IngressBudget = ReturnType<typeof createIngressBudget>;
