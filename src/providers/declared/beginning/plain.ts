import { variableOf } from "./lines.ts";

/** The start of a form, to be filled in: an API that answers a submission with a job, and is asked after it. */
export function plainForm(id: string): string {
  return `# How svc speaks to ${id}. Fill in what its documentation says; \`svc providers check ${id}.yaml\` tells what is wrong.
# Every part is explained in docs/providers.md. What stands in \${…} is an expression (CEL).
provider: ${id}
form: 1
title: ${id}
sources: []                            # where the facts come from, with dates
base: https://api.${id}.example        # TODO the address of the API; paths below are appended to it
media: []                              # TODO hosts that serve what was made, besides the API's: "*.cdn.example"

# The key comes from this variable, or from \`svc providers add ${id}\`.
auth: { header: Authorization, value: "Bearer \${key}", key_env: ${variableOf(id)} }

limits: { under_way: 16, submits: 10/s, polls: 10/s }

# The cheapest call that proves the key. With a balance: { get: /credits, balance: "\${body.credits}", unit_usd: 0.01 }
test: { get: /models }

submit:
  post: /generations                   # TODO
  json:
    model: \${model}
    prompt: \${prompt}
    seed: \${params.?seed}              # absent: the field is left out
    image: \${input("image").?uri}      # an input as a data URI; base64(…) and url(…) are there too
  operation: { id: "\${body.id}" }      # what the job is asked after by

poll:
  get: /generations/\${operation.id}    # TODO
  status: \${body.status}
  words:                               # TODO each word of its documentation; one that is not here counts as pending
    queued: pending
    running: pending
    succeeded: succeeded
    failed: { failed: broken }
    moderated: { failed: moderated }
  outputs: { url: "\${body.output.url}" }   # one address, or a list of them

# cancel: { delete: "/generations/\${operation.id}" }

${ENDS}`;
}

const ENDS = `refusals:                              # what its errors mean: the first that fits counts
  when:
    - { status: [401, 403], means: refused }     # the key, the account or the model
    - { status: 402, means: spent }              # no money left
    - { status: 429, means: busy }
    - { status: [400, 422], means: bad_input }

# Each example is run by \`svc providers check\`. \${base} and \${media} stand for addresses of the API and of a file that was made.
examples:
  - name: text to image
    request: { model: a-model, kind: image, mode: text-to-image, prompt: A fox, params: { seed: 0 } }
    sends: { post: /generations, json: { model: a-model, prompt: A fox, seed: 0 } }
    answers:
      - { body: { id: "1" } }
      - { body: { status: running } }
      - { body: { status: succeeded, output: { url: "\${media}" } } }
    ends: succeeded
  - name: the prompt is moderated
    request: { model: a-model, kind: image, mode: text-to-image, prompt: A fox }
    answers:
      - { body: { id: "1" } }
      - { body: { status: moderated } }
    ends: { failed: moderated }
`;
