/* Writes console/api/published.d.ts: `bun run console:types`. */
import { join } from "node:path";
import { type Published, typesOf } from "../../../cli/dev/api-types.ts";
import { startPublished } from "../../http/openapi-service.ts";

export const TYPES_FILE = join(import.meta.dir, "../../../console/api/published.d.ts");

/** The types of this tree's service. */
export async function currentTypes(): Promise<string> {
  const service = await startPublished();
  try {
    // The document is checked to be one by the tests of it.
    return typesOf(service.document as unknown as Published);
  } finally {
    await service.stop();
  }
}

if (import.meta.main) {
  await Bun.write(TYPES_FILE, await currentTypes());
  process.exit(0);
}
