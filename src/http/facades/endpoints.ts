import type { Endpoint } from "../exchange.ts";
import { openaiVideoEndpoints, type VideoFacadeDeps } from "./openai-videos/routes.ts";

/** What any facade needs. */
export type FacadeDeps = VideoFacadeDeps;

/** The endpoints of every facade. Facades have the names of the APIs they speak, which no other room knows. */
export function facadeEndpoints(deps: FacadeDeps): Endpoint[] {
  return [...openaiVideoEndpoints(deps)];
}
