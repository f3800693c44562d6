import type { ApiProblem } from "../../api/problem.ts";
import type { Schemas } from "../../api/published.d.ts";
import type { Body } from "./request.ts";

export type Told = Schemas["ListedTask"];

/** One press of the button for one model, and what became of it. */
export interface Run {
  /** Names the create, so that it is made once however often it is sent. */
  readonly key: string;
  /** Runs of one press stand side by side. */
  readonly group: string;
  readonly model: string;
  readonly kind: "image" | "video";
  readonly prompt: string;
  readonly previews: boolean;
  /** Milliseconds of this browser's clock. */
  readonly at: number;
  /** Not kept over a reload. */
  readonly body?: Body;
  readonly isWaiting?: boolean;
  readonly problem?: Refusal;
  readonly task?: Told & { readonly hold?: string; readonly advice?: string };
  readonly taskId?: string;
}

/** Why a create was refused, as it is kept. */
export type Refusal = Pick<ApiProblem, "message" | "code" | "status" | "param" | "requestId">;
