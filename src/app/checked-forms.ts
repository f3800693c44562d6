import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isJsonObject } from "../domain/json.ts";
import type { Form } from "../providers/declared/form.ts";
import { CHECKED_FORMS } from "./settings.ts";
import { sourcesHash } from "./sources-hash.ts" with { type: "macro" };

/** Identifies a build, because one build may refuse a form that another has accepted. */
const BUILD = sourcesHash();

/** Remembers between starts which texts were checked and which forms they contain, because checking 40 takes half a second. */
export interface CheckedForms {
  /** The forms that this build has checked, by the hashes of their texts. */
  readonly known: ReadonlyMap<string, Form>;
  /** Remembers exactly these. */
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
        // For example because the disk is full. The next start then takes longer.
      }
    },
  };
}

function read(path: string): ReadonlyMap<string, Form> {
  try {
    const { build, forms }: { build?: unknown; forms?: unknown } = JSON.parse(readFileSync(path, "utf8"));
    if (build !== BUILD || !isJsonObject(forms)) return new Map();
    // This program wrote them after it had checked them.
    return new Map(Object.entries(forms as unknown as Record<string, Form>));
  } catch {
    return new Map();
  }
}
