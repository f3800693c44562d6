import type { Json } from "../json.ts";
import type { InputRole } from "../task/request.ts";
import type { Workflow } from "./workflow.ts";

/** How a route's upstream words a request. What is not listed keeps its name and value, so nothing asked for is lost. */
export interface Wording {
  /** The endpoint of each mode; one that begins with `/` goes below the route's `upstreamModel`. Absent: always `upstreamModel`. */
  readonly endpoints?: { readonly [mode: string]: string } | undefined;
  /** The upstream's name for the prompt; `prompt` unless given. */
  readonly prompt?: string | undefined;
  /** The upstream's name for `n`. Absent: it makes one output a request. */
  readonly count?: string | undefined;
  readonly parameters?: { readonly [name: string]: ParameterWording } | undefined;
  /** Where inputs of each role go. A role that is not here is not taken. */
  readonly inputs?: { readonly [role in InputRole]?: InputWording } | undefined;
  /** Fields of every request, whatever it asks for. */
  readonly constants?: { readonly [field: string]: Json } | undefined;
  /** What the upstream runs; a request's fields go where its slots are. */
  readonly workflow?: Workflow | undefined;
}

/** One parameter in an upstream's words. Its value goes along as it is, unless `values` or `template` is given. */
export interface ParameterWording {
  /** The upstream's name; our own unless given. */
  readonly field?: string | undefined;
  /** The upstream's value for each of ours, which is written as text. A value that is not here cannot be asked for. */
  readonly values?: { readonly [value: string]: Json } | undefined;
  /** A text in which `${value}` stands for our value. */
  readonly template?: string | undefined;
}

export interface InputWording {
  readonly field: string;
  /** Several go into a list; else one is taken, by itself. */
  readonly isList: boolean;
}
