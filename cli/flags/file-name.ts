const LONGEST = 48;
/** Names that Windows keeps for devices, whatever their extension. */
const DEVICES = /^(?:con|prn|aux|nul|com\d|lpt\d)$/;

/** The beginning of a prompt as a file's name, without extension: `a-lighthouse-at-dusk`. @returns undefined where no letter is left */
export function fileNameOf(prompt: string): string | undefined {
  const words =
    prompt
      .slice(0, 400)
      .normalize("NFC")
      .toLowerCase()
      .match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
  let name = "";
  for (const word of words) {
    const longer = name === "" ? word : `${name}-${word}`;
    if ([...longer].length > LONGEST) break;
    name = longer;
  }
  // One endless word.
  if (name === "") name = [...(words[0] ?? "")].slice(0, LONGEST).join("");
  return name === "" || DEVICES.test(name) ? undefined : name;
}
