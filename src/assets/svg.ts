import type { Size } from "../domain/media/size.ts";
import { MediaError } from "../domain/ports/asset-store.ts";
import {
  IMAGE_MAX_SIDE,
  SVG_MAX_ATTRIBUTES,
  SVG_MAX_DEPTH,
  SVG_MAX_DRAWN,
  SVG_MAX_ELEMENTS,
} from "./limits.ts";
import { damaged, tooManyPixels } from "./refusals.ts";
import { ANIMATIONS, ATTRIBUTES, ELEMENTS, LOOKS, PICTURES, REFERENCES, TEXT_ONLY } from "./svg-names.ts";
import { readBeginning } from "./svg-root.ts";
import { isHarmless, isOwnReference, sizeOfDrawing } from "./svg-values.ts";

type XmlNode = Bun.XML.Node;
type Child = XmlNode["children"][number];

interface CleanNode {
  readonly name: string;
  readonly attributes: Record<string, string>;
  readonly children: (string | CleanNode)[];
}

const SVG = "http://www.w3.org/2000/svg";
const XLINK = "http://www.w3.org/1999/xlink";

/**
 * A drawing anew, of nothing but what is known to be harmless: it runs nothing, loads nothing and leads nowhere. What is not on the lists
 * is left out with all that it holds. The same drawing again is the same file.
 *
 * @throws MediaError when it is no whole drawing, or beyond the limits
 */
export function cleanSvg(file: Uint8Array): Size & { readonly bytes: Uint8Array } {
  const beginning = readBeginning(file);
  if (beginning === "declares") throw damaged("it declares entities, which are not read");
  if (beginning === "unfinished") throw damaged("the SVG is cut short");
  if (beginning === "no XML" || beginning.root !== "svg")
    throw new MediaError("unrecognised", "is not an SVG image");
  refuseMany(file, "<", SVG_MAX_ELEMENTS * 2);
  refuseMany(file, "=", SVG_MAX_ATTRIBUTES);
  const root = cleaned(parse(file), 1);
  if (root === undefined) throw new MediaError("unrecognised", "is not an SVG image");
  const size = sizeOfDrawing(root.attributes);
  if (size.width === 0 || size.height === 0) throw damaged("it has no pixels");
  if (Math.max(size.width, size.height) > IMAGE_MAX_SIDE)
    throw tooManyPixels(size.width, size.height, `${IMAGE_MAX_SIDE} a side`);
  if (drawnBy(root) > SVG_MAX_DRAWN) throw new MediaError("too_many_pixels", "repeats its parts too often");
  const text = Bun.XML.stringify(withNamespaces(root));
  return { ...size, bytes: new TextEncoder().encode(text) };
}

/** Bounds the work of the parser, whose time and memory go with the elements and attributes. */
function refuseMany(file: Uint8Array, mark: string, most: number): void {
  const code = mark.charCodeAt(0);
  let count = 0;
  for (let at = file.indexOf(code); at !== -1; at = file.indexOf(code, at + 1)) count += 1;
  if (count > most) throw damaged("it has too many parts");
}

function parse(file: Uint8Array): XmlNode {
  try {
    return Bun.XML.parse(file, { compact: false });
  } catch (error) {
    throw damaged("it is not well-formed XML", error);
  }
}

/** An element without what is not known; undefined for one that is not. A prefix makes a name unknown, whatever it stands for. */
function cleaned({ name, attributes, children }: XmlNode, depth: number): CleanNode | undefined {
  if (!ELEMENTS.has(name)) return undefined;
  if (depth > SVG_MAX_DEPTH) throw damaged("its parts are nested too deeply");
  const kept = Object.entries(attributes).filter(([attribute, value]) => isKept(name, attribute, value));
  const clean: CleanNode = { name, attributes: Object.fromEntries(kept), children: [] };
  if (ANIMATIONS.has(name) && !isHarmlessAnimation(clean)) return undefined;
  for (const child of children) {
    const part = typeof child === "string" ? child : TEXT_ONLY.has(name) ? undefined : element(child, depth);
    if (part !== undefined) clean.children.push(part);
  }
  if (name === "style" && !isHarmless(clean.children.join(""))) return undefined;
  return clean;
}

function element(child: Exclude<Child, string>, depth: number): CleanNode | undefined {
  return "name" in child ? cleaned(child, depth + 1) : undefined;
}

function isKept(element: string, attribute: string, value: string): boolean {
  if (!ATTRIBUTES.has(attribute)) return false;
  return REFERENCES.has(attribute) ? isOwnReference(value, PICTURES.has(element)) : isHarmless(value);
}

/** What moves along a path changes no attribute. */
function isHarmlessAnimation({ name, attributes }: CleanNode): boolean {
  const { attributeName } = attributes;
  return attributeName === undefined ? name === "animateMotion" : LOOKS.has(attributeName);
}

/** How many elements are drawn, those that others use once more for each use. */
function drawnBy(root: CleanNode): number {
  const named = new Map<string, CleanNode>();
  const known = new Map<CleanNode, number>();
  const name = (node: CleanNode): void => {
    if (node.attributes.id !== undefined && !named.has(node.attributes.id))
      named.set(node.attributes.id, node);
    for (const child of node.children) if (typeof child !== "string") name(child);
  };
  const drawn = (node: CleanNode, depth: number): number => {
    const before = known.get(node);
    if (before !== undefined) return before;
    if (depth > SVG_MAX_DEPTH * 4) throw damaged("its parts are nested too deeply");
    // One that uses itself is not drawn, so it counts as nothing while it is being counted.
    known.set(node, 0);
    const address = node.name === "use" ? (node.attributes.href ?? node.attributes["xlink:href"]) : undefined;
    const used = address === undefined ? undefined : named.get(address.slice(1));
    let count = 1 + (used === undefined ? 0 : drawn(used, depth + 1));
    for (const child of node.children) if (typeof child !== "string") count += drawn(child, depth + 1);
    known.set(node, count);
    return count;
  };
  name(root);
  return drawn(root, 1);
}

/** Every element is one of SVG: no other namespace is declared anywhere. */
function withNamespaces(root: CleanNode): CleanNode {
  const { attributes, ...rest } = root;
  const isLinked = (node: CleanNode): boolean =>
    "xlink:href" in node.attributes ||
    node.children.some((child) => typeof child !== "string" && isLinked(child));
  return {
    ...rest,
    attributes: { xmlns: SVG, ...(isLinked(root) && { "xmlns:xlink": XLINK }), ...attributes },
  };
}
