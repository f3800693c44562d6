/** Where a thread of this folder begins: the executable has each at the path of its source. @param file such as `books-worker.ts` */
export function workerEntry(file: string): string {
  return Bun.isStandaloneExecutable ? `./src/app/${file}` : new URL(`./${file}`, import.meta.url).href;
}
