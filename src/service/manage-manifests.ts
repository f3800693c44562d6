import type { Operator } from "../domain/access/actor.ts";
import { AppError, invalid } from "../domain/errors.ts";
import type { JsonObject } from "../domain/json.ts";
import type { Catalog } from "../domain/ports/catalog.ts";
import type { ManifestCheck, ManifestFiles, ManifestFinding } from "../domain/ports/manifests.ts";
import type { NoteChange } from "./note-change.ts";

/** The form of model ids, which are also names of files. */
const MODEL_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;
/** More files are not read. */
const MOST_FILES = 500;

export interface ManageManifestsDeps {
  readonly catalog: Pick<Catalog, "all">;
  readonly files: ManifestFiles;
  /** Checks the text of a manifest. */
  readonly check: (text: string) => Promise<ManifestCheck>;
  /** What the trail records of a text. */
  readonly digest: (text: string) => JsonObject;
  readonly noteChange: NoteChange;
}

/** The file of an own model. */
export interface OwnManifest {
  readonly model: string;
  /** Path in the data folder: `models/mine.yaml`. */
  readonly file: string;
  readonly text: string;
}

/** A manifest that was written. */
export interface WrittenManifest {
  readonly model: string;
  readonly file: string;
  /** What the author may have meant otherwise. */
  readonly findings: readonly ManifestFinding[];
}

/**
 * Reads, writes and removes the files of an operator's own models. The catalogue notices changes by itself within two seconds.
 */
export function createManageManifests(deps: ManageManifestsDeps) {
  const { catalog, files, check, digest, noteChange } = deps;

  function find(model: string): OwnManifest & { readonly name: string } {
    const name = MODEL_ID.test(model) ? nameFor(catalog, model) : undefined;
    const text = name === undefined ? undefined : files.read(name);
    if (name === undefined || text === undefined)
      throw new AppError("not_found", { kind: "manifest_unknown" });
    return { model, name, file: pathOf(name), text };
  }

  return {
    check,
    /** @throws AppError `not_found` if the model is not the operator's own */
    read(model: string): OwnManifest {
      const { name: _, ...found } = find(model);
      return found;
    },
    /**
     * Writes the file of a model if its text can be used, and records this in the trail.
     * @throws AppError `invalid_request` with the first finding; StorageError, and the file is unchanged
     */
    async write(operator: Operator, model: string, text: string): Promise<WrittenManifest> {
      const name = nameFor(catalog, model);
      const { id, findings } = await check(text);
      const [first] = findings;
      if (id === undefined && first !== undefined)
        throw invalid({ kind: "manifest_finding", field: "text", ...first, more: findings.length - 1 });
      if (id !== model) throw invalid({ kind: "manifest_other_id", field: "text", id: id ?? "", model });
      const before = files.read(name);
      if (before === undefined && files.names().length >= MOST_FILES)
        throw invalid({ kind: "manifests_full", most: MOST_FILES });
      if (before !== text) {
        await noteChange(operator, {
          action: "model.write",
          object: { kind: "model", id: model },
          before: before === undefined ? undefined : { file: pathOf(name), ...digest(before) },
          after: { file: pathOf(name), ...digest(text) },
        });
        files.write(name, text);
      }
      return { model, file: pathOf(name), findings };
    },
    /** Removes the file of a model, and records this in the trail. @throws AppError `not_found`; StorageError */
    async remove(operator: Operator, model: string): Promise<Pick<OwnManifest, "model" | "file">> {
      const { name, file, text } = find(model);
      const object = { kind: "model", id: model } as const;
      await noteChange(operator, { action: "model.remove", object, before: { file, ...digest(text) } });
      files.remove(name);
      return { model, file };
    },
  };
}
export type ManageManifests = ReturnType<typeof createManageManifests>;

const pathOf = (name: string) => `models/${name}`;

/** The file that contains a model, or will contain it. @throws AppError `invalid_request` */
function nameFor(catalog: ManageManifestsDeps["catalog"], model: string): string {
  if (!MODEL_ID.test(model)) throw invalid({ kind: "manifest_id", field: "model" });
  const all = catalog.all();
  const own = all.find(({ id }) => id === model)?.file;
  if (own !== undefined) return own.slice(own.lastIndexOf("/") + 1);
  const name = `${model}.yaml`;
  const other = all.find(({ file }) => file?.endsWith(`/${name}`) === true);
  if (other !== undefined) throw invalid({ kind: "manifest_file_taken", file: name, model: other.id });
  return name;
}
