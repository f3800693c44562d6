/** A manifest to begin with, which the checker takes as it is. @param provider the one that makes it: the sandbox does at once */
export function starterFor(provider: string): string {
  const name = provider === "sandbox" ? "picture" : "name-at-the-provider";
  return `id: my-model                          # what a request names: letters, digits, dots, hyphens, underscores
kind: image                           # or video
name: My model
description: Pictures as this house has them.
modes:
  - { id: text-to-image, requires: [] }
schema:                               # the fields of a request, as JSON Schema has them
  required: [prompt]
  properties:
    prompt: { type: string, minLength: 1, maxLength: 4000, description: What to draw. }
    n: { type: integer, minimum: 1, maximum: 4, default: 1, description: How many images to make. }
price:
  lines:
    - { sku: my-model, unit: output, amount: "0.030000" }
deadline_seconds: 600                 # how long a task may take
routes:                               # the ways to make it, in this order
  - provider: ${provider}
    upstream_model: ${name}
`;
}
