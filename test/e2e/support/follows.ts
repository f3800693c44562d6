/** How long a running server may take to follow what another process has changed. */
export const FOLLOWS_WITHIN_MS = 1_000;
const ASK_AGAIN_MS = 20;

/**
 * Asks again until the answer is as it should be after a change.
 *
 * @throws Error when it is not, though it was asked for later than a change may take; how long it took to come does not matter
 */
export async function untilFollowed<Answer>(
  ask: () => Promise<Answer>,
  isSo: (answer: Answer) => boolean,
): Promise<Answer> {
  const changedAtMs = performance.now();
  for (;;) {
    const askedAtMs = performance.now();
    const answer = await ask();
    if (isSo(answer)) return answer;
    if (askedAtMs - changedAtMs > FOLLOWS_WITHIN_MS)
      throw new Error(`The server does not follow: ${JSON.stringify(answer)}`);
    await Bun.sleep(ASK_AGAIN_MS);
  }
}
