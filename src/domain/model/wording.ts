import type { Json } from "../json.ts";
import type { InputRole } from "../task/request.ts";
import type { Workflow } from "./workflow.ts";

/**
 * How a route's upstream words a request. Parameters that are not listed keep their names and values, so nothing of the request
 * is lost.
 */
export interface Wording {
  /** The endpoint of each mode; one that begins with `/` goes below the route's `upstreamModel`. Absent: always `upstreamModel`. */
  readonly endpoints?: { readonly [mode: string]: string } | undefined;
  /** The upstream's name for the prompt; `prompt` unless given. */
  readonly prompt?: string | undefined;
  /** The upstream's name for `n`. Absent: the upstream makes one output per request. */
  readonly count?: string | undefined;
  readonly parameters?: { readonly [name: string]: ParameterWording } | undefined;
  /** Where inputs of each role go. The route takes no inputs of other roles. */
  readonly inputs?: { readonly [role in InputRole]?: InputWording } | undefined;
  /** Fields that every request gets, whatever it asks for. */
  readonly constants?: { readonly [field: string]: Json } | undefined;
  /** The graph that the upstream runs. A request's fields go into its slots. */
  readonly workflow?: Workflow | undefined;
}

/** One parameter in an upstream's words. Its value is passed on unchanged, unless `values` or `template` is given. */
export interface ParameterWording {
  /** The upstream's name; our own unless given. */
  readonly field?: string | undefined;
  /** The upstream's value for each of our values, written as text. A request cannot use a value that is not here. */
  readonly values?: { readonly [value: string]: Json } | undefined;
  /** Each of `values` is an object, whose members are fields of the upstream's. A width and a height are two for a size. */
  readonly spread?: true | undefined;
  /** A text in which `${value}` stands for our value. */
  readonly template?: string | undefined;
}

export interface InputWording {
  readonly field: string;
  /** True: all files go into a list. False: the field takes one file by itself. */
  readonly isList: boolean;
}
