import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";

/** Which engine is driven: one that this program starts and kills, or one that somebody else runs. */
export type Chosen =
  | { readonly kind: "own"; readonly program: string; readonly model: string }
  | { readonly kind: "address"; readonly address: string };

export interface Options {
  readonly engine: Chosen;
  /** Words of which the name of a case, or of its interface, must have one; empty for all. */
  readonly only: readonly string[];
  /** Leave data folders and logs, and say where they are. */
  readonly keep: boolean;
}

export const USAGE = `bun run engine [--folder DIR | --engine FILE --model FILE | --address URL] [--only words] [--keep]

  --folder   has build/bin/sd-server and model.safetensors; sdcpp in the folder for temporary files unless given
  --engine   sd-server of stable-diffusion.cpp, which is started here, and killed
  --model    the model that it loads
  --address  an engine that runs already, such as http://127.0.0.1:1234; nothing is killed then
  --only     cases and interfaces by parts of their names, with commas between
  --keep     leave data folders and logs behind
`;

/** @throws Error that says what is wrong with the arguments, or that there is no engine */
export function readOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      folder: { type: "string", default: join(tmpdir(), "sdcpp") },
      engine: { type: "string" },
      model: { type: "string" },
      address: { type: "string" },
      only: { type: "string", default: "" },
      keep: { type: "boolean", default: false },
    },
  });
  const only = values.only.split(",").flatMap((word) => word.trim().toLowerCase() || []);
  return { engine: chosen(values), only, keep: values.keep };
}

function chosen(given: {
  folder: string;
  engine?: string | undefined;
  model?: string | undefined;
  address?: string | undefined;
}): Chosen {
  if (given.address !== undefined) {
    if (!URL.canParse(given.address)) throw new Error(`--address must be a URL, got "${given.address}".`);
    return { kind: "address", address: new URL(given.address).origin };
  }
  const program = given.engine ?? join(given.folder, "build/bin/sd-server");
  const model = given.model ?? join(given.folder, "model.safetensors");
  for (const file of [program, model]) if (!existsSync(file)) throw new Error(absent(file));
  return { kind: "own", program, model };
}

const absent = (
  file: string,
) => `There is no ${file}. Build sd-server of stable-diffusion.cpp, give it any model of
Stable Diffusion 1 or 2, and name both by --engine and --model; or start an engine yourself and name its --address.`;
