import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readYaml } from "../../toolkit/yaml.ts";
import type { Form } from "./form.ts";
import { type LoadedForm, loadForm } from "./loaded.ts";

/** The texts of the forms with which tasks began. A task uses its form until its end, whatever the file says by then. */
export interface UsedForms {
  /** Keeps the text of a form, once. */
  keep(form: LoadedForm): void;
  /** A form that was kept, by its hash. */
  find(hash: string): LoadedForm | undefined;
}

/** A form that can be used. @throws FormError, or another error, for one that this version cannot use */
function compiled(form: LoadedForm): LoadedForm {
  form.compiled();
  return form;
}

const HASH = /^[0-9a-f]{64}$/;

/** Keeps them in a folder, which is made when the first is kept. */
export function createUsedForms(directory: string): UsedForms {
  const kept = new Set<string>();
  const found = new Map<string, LoadedForm | undefined>();
  const pathOf = (hash: string) => join(directory, `${hash}.yaml`);

  function read(hash: string): LoadedForm | undefined {
    try {
      const text = readFileSync(pathOf(hash), "utf8");
      if (createHash("sha256").update(text).digest("hex") !== hash) return undefined;
      // The form was checked before it was stored, as the same reader reads it. Checking it again would delay everything else.
      return compiled(loadForm(readYaml(text).value as Form, hash, text));
    } catch {
      // If it is lost or damaged, the task continues with the form in force, which is better than not at all.
      return undefined;
    }
  }

  return {
    keep({ hash, text }) {
      if (kept.has(hash)) return;
      const path = pathOf(hash);
      // An earlier process may have kept it.
      if (!existsSync(path)) {
        mkdirSync(directory, { recursive: true, mode: 0o700 });
        writeFileSync(`${path}.tmp`, text, { mode: 0o600, flush: true });
        renameSync(`${path}.tmp`, path);
      }
      kept.add(hash);
      found.delete(hash);
    },
    find: (hash) => (HASH.test(hash) ? found.getOrInsertComputed(hash, read) : undefined),
  };
}
