/** A picture as iTerm2 shows it, `columns` cells wide (https://iterm2.com/documentation-images.html). */
export function itermPicture(png: Uint8Array, columns: number): string {
  const about = `inline=1;size=${png.length};width=${columns};preserveAspectRatio=1`;
  return `\u001b]1337;File=${about}:${png.toBase64()}\u0007`;
}
