const CODES: ReadonlySet<unknown> = new Set(["EMFILE", "ENFILE", "ENOMEM", "EAGAIN"]);
/** As system and decoders say it. Errors that crossed a thread have lost their code. */
const WORDS = /\bE[MN]FILE\b|too many open files|cannot allocate memory|out of memory/i;

/** Whether an error tells that this process lacks files or memory at present, which is nobody else's fault and may pass. */
export function isShortage(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if ("code" in error && CODES.has(error.code)) return true;
  return WORDS.test(error.message) || isShortage(error.cause);
}
