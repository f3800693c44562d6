import type { FacadeName } from "../../domain/facades.ts";
import type { Endpoint } from "../exchange.ts";
import { type FalFacadeDeps, falEndpoints } from "./fal/routes.ts";
import { type GeminiDeps, geminiEndpoints } from "./gemini/routes.ts";
import { type McpFacadeDeps, mcpEndpoints } from "./mcp/routes.ts";
import { openaiVideoEndpoints, type VideoFacadeDeps } from "./openai-videos/routes.ts";
import { type ReplicateDeps, replicateEndpoints } from "./replicate/routes.ts";
import { type Automatic1111Deps, automatic1111Endpoints } from "./sdapi/routes.ts";

/** What any facade needs. */
export type FacadeDeps = VideoFacadeDeps &
  FalFacadeDeps &
  GeminiDeps &
  McpFacadeDeps &
  Automatic1111Deps &
  ReplicateDeps;

const ENDPOINTS = {
  "openai-videos": openaiVideoEndpoints,
  fal: falEndpoints,
  gemini: geminiEndpoints,
  mcp: mcpEndpoints,
  automatic1111: automatic1111Endpoints,
  replicate: replicateEndpoints,
} as const satisfies Record<FacadeName, (deps: FacadeDeps) => Endpoint[]>;

/** The endpoints of the facades that are on. Facades are named after the APIs that they speak, which no other room knows. */
export function facadeEndpoints(deps: FacadeDeps, areOn: readonly FacadeName[]): Endpoint[] {
  return [...new Set(areOn)].flatMap((name) => ENDPOINTS[name](deps));
}
