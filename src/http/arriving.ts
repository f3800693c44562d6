import type { Principal } from "../domain/access/account.ts";
import type { Operator } from "../domain/access/actor.ts";
import type { AccountId } from "../domain/ids.ts";
import type { Ids } from "../domain/ports/runtime.ts";
import type { RequestTrace, Spans } from "../domain/ports/spans.ts";
import { traceparentOf } from "../domain/tracing.ts";
import type { Entering } from "./access.ts";
import { clientAddressOf, originOf, type ProxyTrust } from "./client-address.ts";
import type { Edge } from "./edge.ts";
import type { Connection } from "./exchange.ts";
import type { Ingress } from "./ingress/ingress.ts";
import type { Found } from "./paths.ts";

export interface ArrivingDeps extends ProxyTrust {
  readonly ids: Ids;
  /** Milliseconds on a clock that never jumps. */
  readonly elapsed: () => number;
  readonly edge: Pick<Edge, "deadline" | "within">;
  readonly ingress: Ingress;
  /** Absent if nothing is traced. */
  readonly spans?: Spans | undefined;
  /** The public address of this service, if it is set. */
  readonly publicUrl?: string | undefined;
}

/** A caller's own request id is kept if it matches; others are replaced. */
const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/;

/**
 * A request that has arrived. It is a class because getters cost nothing until an endpoint uses them, and most endpoints use
 * few.
 */
export class Arriving implements Entering {
  readonly requestId: string;
  readonly startedAt: number;
  isLate = false;
  principal?: Principal;
  operator?: Operator;
  limitHeaders?: Readonly<Record<string, string>>;
  standing?: NonNullable<Entering["standing"]>;
  #place: RequestTrace | undefined;
  #origin: string | undefined;
  readonly #deps: ArrivingDeps;
  readonly #connection: Connection;
  readonly #found: Found;

  constructor(
    deps: ArrivingDeps,
    readonly request: Request,
    connection: Connection,
    found: Found,
  ) {
    this.#deps = deps;
    this.#connection = connection;
    this.#found = found;
    this.startedAt = deps.elapsed();
    const given = request.headers.get("x-request-id");
    const isKept = given !== null && REQUEST_ID.test(given) && !given.includes("-svc-");
    this.requestId = isKept ? given : deps.ids.create("req");
  }

  /** What answers it. */
  get handling() {
    return this.#found.handling;
  }

  get path() {
    return this.#found.path;
  }

  get param() {
    return this.#found.param;
  }

  get isLong() {
    return this.#connection.isLong;
  }

  get origin() {
    this.#origin ??= originOf(this.#deps, this.request, this.#connection);
    return this.#origin;
  }

  get address() {
    return clientAddressOf(this.#deps, this.request, this.#connection);
  }

  get subscriber() {
    return this.#deps.addresses.subscriber(this.address ?? "");
  }

  get intake() {
    return this.#deps.ingress.intakeOf(this.request, () => this.#owner());
  }

  get intakeFor() {
    return (account: AccountId) => this.#deps.ingress.intakeOf(this.request, () => account);
  }

  /** Its place in a trace; undefined if nothing is traced. */
  get place(): RequestTrace | undefined {
    this.#place ??= this.#deps.spans?.open(this.request.headers.get("traceparent"));
    return this.#place;
  }

  get trace() {
    return this.place?.isSampled === true ? traceparentOf(this.place) : undefined;
  }

  get query() {
    return () => queryOf(this.request.url);
  }

  get edgeDeadline() {
    return () => (this.isLong ? undefined : this.#deps.edge.deadline(this.startedAt));
  }

  /** The owner in whose share of the memory the body is counted. */
  #owner(): string {
    return this.principal?.accountId ?? this.operator?.tokenId ?? "";
  }
}

/** The query of an address. As in a path, the NUL character stays escaped: nothing that is stored has it. */
export function queryOf(url: string): URLSearchParams {
  return new URLSearchParams((url.split("?", 2)[1] ?? "").replaceAll("%00", "%2500"));
}
