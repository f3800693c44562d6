/**
 * The entry point of a thread in this folder. The executable contains each at the path of its source. @param file such as
 * `books-worker.ts`
 */
export function workerEntry(file: string): string {
  return Bun.isStandaloneExecutable ? `./src/app/${file}` : new URL(`./${file}`, import.meta.url).href;
}
