import { pathOfAzure } from "../compat/deployments.ts";
import { FAL } from "./fal/manners.ts";
import { GEMINI } from "./gemini/manners.ts";
import type { Manners } from "./manners.ts";
import { MCP_MANNERS } from "./mcp/manners.ts";
import { REPLICATE_MANNERS } from "./replicate/manners.ts";
import { AUTOMATIC1111 } from "./sdapi/manners.ts";

/** The facades that tell errors in a form of their own. */
export const SPOKEN: readonly Manners[] = [FAL, GEMINI, MCP_MANNERS, AUTOMATIC1111, REPLICATE_MANNERS];

/** The manners that apply to a path; undefined on this service's own paths. */
export function mannersOf(path: string): Manners | undefined {
  return SPOKEN.find(
    ({ base, others }) => path === base || path.startsWith(`${base}/`) || others?.includes(path),
  );
}

/** The path that a path as some clients write it stands for; undefined where it stands for itself. */
export function otherPathOf(path: string, request: Request): string | undefined {
  const manners = mannersOf(path);
  if (manners === undefined) return pathOfAzure(path);
  const named = manners.pathOf?.(path, request);
  if (named !== undefined) return named;
  const [beginning, other] = manners.sameAs?.find(([each]) => each.test(path)) ?? [];
  return beginning === undefined || other === undefined ? undefined : path.replace(beginning, other);
}
