import type { Json } from "../../domain/json.ts";
import type { EgressError } from "../../domain/ports/egress.ts";
import type { Use } from "../kit/network.ts";

/** The number of this format, in the first line of a recording. */
export const FORMAT = 1;
/** How a recording's name ends; before it stands the id of its task. */
export const ENDING = ".jsonl";
/** The folder of longer bodies and files beside the recordings, each under the SHA-256 of its content. */
export const FILES = "files";

/** The first line. */
export interface HeadLine {
  readonly recording: number;
  readonly task: string;
  readonly model: string;
  readonly at: string;
}

/** Stands before the first request to an account. */
export interface AccountLine {
  readonly account: string;
  /** How it is reached. */
  readonly terms: Json;
}

/** A body: short text as it is, everything else as a file. */
export type Stored =
  | { readonly text: string }
  | { readonly file: string; readonly bytes: number }
  /** What it is not stored for. */
  | { readonly withheld: string };

export interface SentLine {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Stored | undefined;
}

export interface AnswerLine {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Stored | undefined;
  /** Why the rest of the body did not come. */
  readonly broken?: Missing | undefined;
}

/** Why something did not come. */
export interface Missing {
  readonly why: string;
  readonly isLate?: true | undefined;
  /** Of a file from an address that is no upstream's own. */
  readonly reason?: EgressError["reason"] | undefined;
}

/** A request and what came of it. A line each. */
export interface ExchangeLine {
  /** Absent for a file that no account was asked for, such as a caller's. */
  readonly lane?: string | undefined;
  readonly use: Use;
  readonly at: string;
  readonly sent: SentLine;
  readonly answer?: AnswerLine | undefined;
  /** In place of an answer. `isUnsent`: the request never left. */
  readonly none?: (Missing & { readonly isUnsent?: true | undefined }) | undefined;
}

/** What the adapter was asked for, and what it made of the exchanges before this line. */
export interface CallLine {
  readonly call: "submit" | "poll" | "cancel" | "recover" | "fetchOutput";
  readonly lane: string;
  readonly with: Json;
  readonly came?: Json | undefined;
  readonly threw?: Json | undefined;
}

/** The last line of a whole recording. */
export interface EndLine {
  readonly ended: string;
}

/** The last line of a recording that could not go on. */
export interface StoppedLine {
  readonly stopped: string;
}

export type Line = HeadLine | AccountLine | ExchangeLine | CallLine | EndLine | StoppedLine;
