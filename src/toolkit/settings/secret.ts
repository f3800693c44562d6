import { inspect } from "node:util";

/** A credential. Only `reveal` shows it: printed, logged or turned into JSON it is a mask. */
export interface Secret {
  reveal(): string;
}

const MASK = "[secret]";

export function createSecret(value: string): Secret {
  return Object.freeze({
    reveal: () => value,
    toString: () => MASK,
    toJSON: () => MASK,
    [inspect.custom]: () => MASK,
  });
}
