/**
 * Prints a report for people, and the verdict as its last line.
 *
 * @param lines of the report
 * @param findings the first of them, for people to read
 * @param total how many there are
 * @param dataDir what was left behind, if anything was
 */
export function printVerdict(
  lines: readonly string[],
  findings: readonly string[],
  total: number,
  dataDir?: string,
): void {
  process.stdout.write(`\n${lines.join("\n")}\n`);
  if (total === 0) {
    process.stdout.write("\nPASS\n");
    return;
  }
  const left = dataDir === undefined ? "" : `data folder: ${dataDir}\n`;
  process.stdout.write(`\n${findings.map((text) => `- ${text}`).join("\n")}\n`);
  process.stdout.write(`\nFAIL: ${total} differences, the first: ${findings[0]}\n${left}`);
}
