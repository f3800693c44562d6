import type { AppError, ErrorCode } from "../../domain/errors.ts";
import type { FacadeName } from "../../domain/facades.ts";
import type { Json } from "../../domain/json.ts";
import type { Schema } from "../wire/schema.ts";

/** An error as an API tells it. */
export interface ToldError {
  /** Instead of the status that the code has here. */
  readonly status?: number | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body: Json;
}

/** Rules for everything below the base of a facade with its own errors, including paths that do not exist. */
export interface Manners {
  readonly name: FacadeName;
  /** Where its paths begin, without a slash at the end. */
  readonly base: `/${string}`;
  /** Paths of its own that lie elsewhere. */
  readonly others?: readonly string[] | undefined;
  /** Schemes of `Authorization` that its clients send a key by, in small letters, beside `bearer`. */
  readonly schemes: readonly string[];
  /** Beginnings of paths that its clients use too, and what each stands for: other versions of the API, say. */
  readonly sameAs?: readonly (readonly [beginning: RegExp, path: string])[] | undefined;
  /** The path that a request says itself it is for; undefined where it says none. Asked on paths that are unknown. */
  readonly pathOf?: ((path: string, request: Request) => string | undefined) | undefined;
  /** Statuses of codes that have others here, for the published document. */
  readonly statuses?: Readonly<Partial<Record<ErrorCode, number>>> | undefined;
  /** @param status that the error's code has here */
  readonly tell: (error: AppError, status: number) => ToldError;
  /** Of what it tells. */
  readonly schema: Schema;
}
