import { jsonBody } from "../../openapi/contract.ts";
import { closed, component, integer, list, nullable, requiring, text } from "../../wire/schema.ts";
import { contract } from "../contract.ts";

const PATH = { path: { model: text("Id of the model.") } };

/** The endpoints check it completely and say where it is wrong. */
export const MANIFEST_BODY = requiring(["text"], {
  text: text("The manifest, in YAML, 128 KiB at most.", { minLength: 1 }),
});

const FINDINGS = list(
  closed({
    line: integer("From 1.", { minimum: 1 }),
    column: integer("From 1.", { minimum: 1 }),
    message: text("What is wrong, or may have been meant otherwise."),
  }),
  { description: "In the order of the text." },
);

const FILE = text("Where it is in the server's data folder.", { examples: ["models/mine.yaml"] });
const FOLLOWS = "The server takes it up within two seconds, without a restart.";

export const MANIFESTS = {
  check: contract(
    "checkManifest",
    "Check the manifest of a model of one's own",
    component("ManifestCheck", {
      model: nullable(text("The id of its model; null where it cannot be used.")),
      findings: FINDINGS,
    }),
    {
      description:
        "Writes nothing. Findings are the reasons why it cannot be used, or, where it can, what may have been meant otherwise.",
      body: jsonBody(MANIFEST_BODY),
      errors: ["invalid_request"],
    },
  ),
  read: contract(
    "readManifest",
    "Read the manifest of a model of one's own",
    component("Manifest", { model: text("Id of the model."), file: FILE, text: text("The file, in YAML.") }),
    { description: "Of a model that is built in there is none.", ...PATH },
  ),
  write: contract(
    "writeManifest",
    "Write the manifest of a model of one's own",
    component("WrittenManifest", { model: text("Id of the model."), file: FILE, findings: FINDINGS }),
    {
      description: `Adds the model, or replaces its file as a whole. What cannot be used is refused with its first finding, and changes nothing. ${FOLLOWS}`,
      ...PATH,
      body: jsonBody(MANIFEST_BODY),
      errors: ["invalid_request", "service_unavailable"],
    },
  ),
  remove: contract(
    "removeManifest",
    "Remove a model of one's own",
    component("RemovedManifest", { model: text("Id of the model."), file: FILE }),
    {
      description: `Removes its file. A built-in model whose place it took is back then. Tasks that a provider has go on. ${FOLLOWS}`,
      ...PATH,
      errors: ["not_found", "service_unavailable"],
    },
  ),
};
