/**
 * The parts as one text, in one piece of memory. The engine joins other texts only when they are read: one that is kept to become part of
 * many would be joined anew with each.
 */
export const inOnePiece = (...parts: readonly string[]): string => parts.join("");
