import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isJsonObject } from "../domain/json.ts";
import type { Form } from "../providers/declared/form.ts";
import { CHECKED_FORMS } from "./settings.ts";
import { sourcesHash } from "./sources-hash.ts" with { type: "macro" };

/** Tells one build from another: what one has checked, another may refuse. */
const BUILD = sourcesHash();

/** Remembers between starts which texts were checked, and as what forms they were read: checking 40 takes half a second. */
export interface CheckedForms {
  /** Those of this build, by the hashes of their texts. */
  readonly known: ReadonlyMap<string, Form>;
  /** Remembers these and no others. */
  keep(forms: ReadonlyMap<string, Form>): void;
}

export function readCheckedForms(dataDir: string): CheckedForms {
  const path = join(dataDir, CHECKED_FORMS);
  const known = read(path);
  let kept: ReadonlySet<string> = new Set(known.keys());
  return {
    known,
    keep(forms) {
      const hashes = new Set(forms.keys());
      if (hashes.size === kept.size && hashes.isSubsetOf(kept)) return;
      try {
        const text = JSON.stringify({ build: BUILD, forms: Object.fromEntries(forms) });
        writeFileSync(`${path}.part`, text, { mode: 0o600, flush: true });
        renameSync(`${path}.part`, path);
        kept = hashes;
      } catch {
        // A full disk, say. The next start takes longer.
      }
    },
  };
}

function read(path: string): ReadonlyMap<string, Form> {
  try {
    const { build, forms }: { build?: unknown; forms?: unknown } = JSON.parse(readFileSync(path, "utf8"));
    if (build !== BUILD || !isJsonObject(forms)) return new Map();
    // They were written here, after they were checked.
    return new Map(Object.entries(forms as unknown as Record<string, Form>));
  } catch {
    return new Map();
  }
}
