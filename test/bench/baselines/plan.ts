/** What a bare server does with a request. */
export type BaselinePlan = { readonly port: number } & (
  | { readonly mode: "none" }
  /** Inserts a copy of the task `template` under a new id. */
  | { readonly mode: "insert"; readonly database: string; readonly template: string }
  /** The same on PostgreSQL: one insert for each request, each with a commit of its own. */
  | { readonly mode: "insert-postgres"; readonly database: string; readonly template: string }
  | { readonly mode: "read"; readonly database: string }
  | { readonly mode: "file"; readonly directory: string }
  /** Passes each request on to an images API, and its answer back. */
  | { readonly mode: "forward"; readonly upstream: string }
  /** The same, with a copy of the task `template` inserted before and another after, each in a commit that others share. */
  | {
      readonly mode: "forward-stored";
      readonly upstream: string;
      readonly database: string;
      readonly template: string;
    }
  /** Answers every request as an images API that has its picture at once. */
  | { readonly mode: "image" }
);
