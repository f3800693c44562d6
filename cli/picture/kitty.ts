/** The longest payload of one escape sequence (https://sw.kovidgoyal.net/kitty/graphics-protocol/#remote-client). */
const CHUNK = 4096;

/**
 * A picture as kitty's graphics protocol shows it, `columns` cells wide and as high as its proportions say. The terminal is told to
 * answer nothing (q=2): an answer would reach the shell as typed text.
 */
export function kittyPicture(png: Uint8Array, columns: number): string {
  const data = png.toBase64();
  let text = "";
  for (let at = 0; at < data.length; at += CHUNK) {
    const more = at + CHUNK < data.length ? 1 : 0;
    const keys = at === 0 ? `a=T,f=100,q=2,c=${columns},m=${more}` : `q=2,m=${more}`;
    text += `\u001b_G${keys};${data.slice(at, at + CHUNK)}\u001b\\`;
  }
  return text;
}
