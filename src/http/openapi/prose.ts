/** The introduction of the published document, in Markdown. */
export const INTRODUCTION = `Images and videos from many generators behind one address.

**Asynchronous.** A create is answered at once with a \`task_id\`. Read the task until its status is \`completed\`, \`failed\` or
\`cancelled\`: with short delays at first, then longer ones with jitter, or with \`wait\`, or follow its events or those of the
account, or give a \`callback_url\`. \`completed\` always comes with the URLs of what was made.

**Synchronous.** Below \`/compat/v1\` the answer holds the images, in the form that clients of the widespread images API speak.
Unknown fields are ignored there, and refused elsewhere.

**Errors.** Standard errors hold \`data.error_code\`; every 401, and everything below \`/compat/v1\`, holds \`error.code\` instead. Read
\`error.code\` first, then \`data.error_code\`, and keep status and message. A path that does not exist is 404 \`not_found\`, a
method it does not take 405 \`method_not_allowed\`. Retry 429, 503 and passing 5xx with growing, jittered delays; honour
\`Retry-After\`. A create whose outcome is unknown is sent again with the same \`Idempotency-Key\` and body. New codes may
appear; fall back to the status.

**Money** is a decimal string with six places and \`currency\` beside it; null means without limit. **Times** are Unix seconds,
in callbacks ISO 8601 in UTC. **Ids** have a prefix that says what they name. Every answer carries \`X-Request-ID\`. Every GET
takes HEAD as well.`;
