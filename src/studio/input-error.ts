/** The caller's media cannot be used. `message` is safe to show to the caller. */
export class InputInvalidError extends Error {
  readonly code = "INPUT_INVALID";
  override readonly name = "InputInvalidError";
}
