/** Breaks at spaces; keeps lines that begin with one, and words that are longer, as they are. */
export function wrapped(text: string, width: number): string[] {
  return text.split("\n").flatMap((line) => {
    const lines = [""];
    for (const word of line.split(" ")) {
      const last = lines.at(-1) ?? "";
      if (last !== "" && last.length + 1 + word.length > width) lines.push(word);
      else lines[lines.length - 1] = last === "" ? word : `${last} ${word}`;
    }
    return lines;
  });
}
