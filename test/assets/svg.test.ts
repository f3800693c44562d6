import { describe, expect, test } from "bun:test";
import { SVG_MAX_ATTRIBUTES, SVG_MAX_DEPTH, SVG_MAX_ELEMENTS } from "../../src/assets/limits.ts";
import { sniffMediaType } from "../../src/assets/sniff.ts";
import { cleanSvg } from "../../src/assets/svg.ts";
import { concat, text } from "../helpers/media.ts";

const NAMESPACE = 'xmlns="http://www.w3.org/2000/svg"';
const LINKS = 'xmlns:xlink="http://www.w3.org/1999/xlink"';
const PNG = "data:image/png;base64,iVBORw0KGgo=";

/** A drawing of 4 by 3 with this in it. */
const drawing = (inner: string, attributes = "") =>
  `<svg ${NAMESPACE}${attributes} viewBox="0 0 4 3"${inner === "" ? "/>" : `>${inner}</svg>`}`;
const clean = (source: string | Uint8Array) => new TextDecoder().decode(cleanSvg(bytesOf(source)).bytes);
const bytesOf = (source: string | Uint8Array) => (typeof source === "string" ? text(source) : source);
function reason(source: string | Uint8Array): string {
  try {
    cleanSvg(bytesOf(source));
    return "taken";
  } catch (error) {
    return error instanceof Error && "reason" in error ? `${error.reason}: ${error.message}` : String(error);
  }
}

/** Drawings whose parts are all harmless, such as models make. */
const harmless: [string, string][] = [
  ["paths", '<path d="M0 0L4 3z" fill="rgb(12, 34, 56)" transform="translate(1,2) rotate(45)"/>'],
  [
    "a gradient",
    '<defs><linearGradient id="a"><stop offset="0" stop-color="#fff"/></linearGradient></defs><g fill="url(#a)"/>',
  ],
  ["a gradient named in quotes", `<g fill="url( '#a' )"/>`],
  [
    "a style sheet",
    "<style>.a{fill:url(#b);transform:rotate(3deg)}@media (min-width:3px){.a:not(.b){fill:red}}</style>",
  ],
  ["moving style", "<style>@keyframes a{from{opacity:0}to{opacity:calc(1 - .5)}}</style>"],
  ["a style", '<g style="fill:#123;filter:drop-shadow(0 0 2px rgba(0,0,0,.5))"/>'],
  [
    "a filter",
    '<filter id="f"><feGaussianBlur stdDeviation="2"/><feMerge><feMergeNode in="f"/></feMerge></filter>',
  ],
  ["text", '<text x="1" font-family="Inter">A &lt; B<tspan dy="2"> &amp; C</tspan></text>'],
  ["a picture inside", `<image href="${PNG}" width="1" height="1"/>`],
  ["uses", '<symbol id="s"><circle r="1"/></symbol><use href="#s" x="2"/>'],
  [
    "movement",
    '<rect><animate attributeName="opacity" values="0;1" dur="1s"/><animateMotion path="M0 0"/></rect>',
  ],
  ["a title", "<title>A fox (red)</title><desc>It runs.</desc>"],
  [
    "a mask and a pattern",
    '<mask id="m"><rect/></mask><pattern id="p" patternUnits="userSpaceOnUse"/><g mask="url(#m)"/>',
  ],
];
test.each(harmless)("%s stay as they are", (_, inner) => {
  expect(clean(drawing(inner))).toBe(drawing(inner));
});

/** What is in a drawing, and what is left of it. */
const hostile: [string, string, string][] = [
  ["a script", "<script>alert(1)</script>", ""],
  ["a script by address", '<script href="https://x.example/a.js"/>', ""],
  ["a script in capitals", "<SCRIPT>alert(1)</SCRIPT>", ""],
  ["a script with a prefix", `<x:script xmlns:x="http://www.w3.org/2000/svg">alert(1)</x:script>`, ""],
  ["a script of HTML", '<script xmlns="http://www.w3.org/1999/xhtml">alert(1)</script>', ""],
  ["a script in CDATA", "<script><![CDATA[alert(1)]]></script>", ""],
  [
    "markup in CDATA",
    "<text><![CDATA[<script>alert(1)</script>]]></text>",
    "<text>&lt;script&gt;alert(1)&lt;/script&gt;</text>",
  ],
  ["a handler", '<rect onclick="alert(1)"/>', "<rect/>"],
  ["a handler in capitals", '<rect OnClick="alert(1)"/>', "<rect/>"],
  [
    "a handler of an animation",
    '<animate attributeName="x" onbegin="alert(1)"/>',
    '<animate attributeName="x"/>',
  ],
  ["a handler with a prefix", '<rect x:onclick="alert(1)" xmlns:x="urn:x"/>', "<rect/>"],
  ["a handler element", '<handler type="application/ecmascript">alert(1)</handler>', ""],
  ["HTML", "<foreignObject><iframe src='https://x.example'/></foreignObject>", ""],
  [
    "HTML inside a group",
    '<g><foreignObject><p/></foreignObject><path d="M0 0"/></g>',
    '<g><path d="M0 0"/></g>',
  ],
  ["HTML by its namespace", '<h:img xmlns:h="http://www.w3.org/1999/xhtml" src="https://x.example"/>', ""],
  ["a drawing in a title", "<title><g/>A</title>", "<title>A</title>"],
  ["HTML in a title", "<title><img src='x' onerror='alert(1)'/>A</title>", "<title>A</title>"],
  ["a link", '<a href="https://x.example"><path d="M0 0"/></a>', '<a><path d="M0 0"/></a>'],
  ["a script as a link", '<a xlink:href="javascript:alert(1)"><rect/></a>', "<a><rect/></a>"],
  ["a script as a link, broken up", '<a href="java&#x0a;script:alert(1)"/>', "<a/>"],
  [
    "a link by another prefix",
    '<a y:href="javascript:alert(1)" xmlns:y="http://www.w3.org/1999/xlink"/>',
    "<a/>",
  ],
  ["an address of its own for all", '<g xml:base="https://x.example/"/>', "<g/>"],
  ["a picture elsewhere", '<image href="https://x.example/a.png"/>', "<image/>"],
  ["a picture in a file", '<image xlink:href="file:///etc/passwd"/>', "<image/>"],
  ["a picture without a scheme", '<image href="//x.example/a.png"/>', "<image/>"],
  ["a drawing in a drawing", '<image href="data:image/svg+xml;base64,PHN2Zy8+"/>', "<image/>"],
  ["a drawing that says it is a picture", '<image href="data:image/png,&lt;svg/>"/>', "<image/>"],
  ["a page in a picture's place", '<image href="data:text/html;base64,PGI+"/>', "<image/>"],
  ["a picture behind a space", `<image href=" ${PNG}"/>`, "<image/>"],
  ["a picture for a filter elsewhere", '<feImage href="https://x.example/a.png"/>', "<feImage/>"],
  ["a use of another file", '<use href="https://x.example/a.svg#b"/>', "<use/>"],
  ["a use of a drawing inside", '<use href="data:image/svg+xml;base64,PHN2Zy8+#a"/>', "<use/>"],
  ["a use of a picture", `<use href="${PNG}"/>`, "<use/>"],
  ["a colour elsewhere", '<rect fill="url(https://x.example/a.svg#b)"/>', "<rect/>"],
  ["a colour elsewhere, in capitals", '<rect fill="URL(https://x.example/a#b)"/>', "<rect/>"],
  ["a colour elsewhere behind one here", '<rect fill="url(#a) url(//x.example)"/>', "<rect/>"],
  ["a filter elsewhere in quotes", `<rect filter="url('https://x.example')"/>`, "<rect/>"],
  ["a style that loads", '<rect style="background:url(https://x.example)"/>', "<rect/>"],
  ["a style that loads by an escape", '<rect style="fill:u\\72l(https://x.example)"/>', "<rect/>"],
  [
    "a style that loads by a name that ends in an escape",
    '<rect style="fill:ur\\6c (//x.example)"/>',
    "<rect/>",
  ],
  ["a style that loads past a comment", '<rect style="fill:/**/url(/**/https://x.example)"/>', "<rect/>"],
  ["a style that loads a set", '<rect style="fill:image-set(&quot;https://x.example&quot; 1x)"/>', "<rect/>"],
  ["a style that calculates", '<rect style="width:expression(alert(1))"/>', "<rect/>"],
  ["a style sheet that imports", '<style>@import "https://x.example/a.css";</style>', ""],
  ["a style sheet that imports by an escape", "<style>@\\69mport 'https://x.example'</style>", ""],
  ["a style sheet with a font", "<style>@font-face{font-family:a;src:url(https://x.example)}</style>", ""],
  ["a style sheet that loads", "<style>a{fill:url(https://x.example)}</style>", ""],
  ["a style sheet of elements", "<style><g/>a{}</style>", "<style>a{}</style>"],
  [
    "an animation of an address",
    '<a><animate attributeName="href" values="javascript:alert(1)"/></a>',
    "<a/>",
  ],
  ["an animation of a link", '<a><set attributeName="xlink:href" to="javascript:alert(1)"/></a>', "<a/>"],
  ["an animation of a handler", '<set attributeName="onclick" to="alert(1)"/>', ""],
  ["an animation of a style", '<animate attributeName="style" to="fill:red"/>', ""],
  ["an animation of nothing said", '<animate to="1"/>', ""],
  [
    "an animation to a colour elsewhere",
    '<set attributeName="fill" to="url(//x.example)"/>',
    '<set attributeName="fill"/>',
  ],
  ["sound", '<audio src="https://x.example/a.mp3"/>', ""],
  ["a font elsewhere", '<font-face-uri href="https://x.example/a.ttf"/>', ""],
  ["metadata", "<metadata><rdf:RDF xmlns:rdf='urn:x'>Ann</rdf:RDF></metadata>", ""],
  ["an editor's notes", '<g inkscape:label="Ann" data-name="Ann" xmlns:inkscape="urn:x"/>', "<g/>"],
  ["comments", "<!-- <script>alert(1)</script> --><g/>", "<g/>"],
  ["instructions", '<?xml-stylesheet href="https://x.example/a.css"?><g/>', "<g/>"],
  ["attributes of every object", '<g __proto__="x" constructor="y" toString="z" hasOwnProperty=""/>', "<g/>"],
  ["elements of every object", "<__proto__/><constructor/><g/>", "<g/>"],
];
describe("what is not known to be harmless is left out", () => {
  test.each(hostile)("%s", (_, inner, left) => {
    expect(clean(drawing(inner, ` ${LINKS}`))).toBe(drawing(left));
    expect(clean(clean(drawing(inner, ` ${LINKS}`)))).toBe(drawing(left));
  });
});

test("the root keeps nothing of what the others must not have", () => {
  const root = drawing("", ` onload="alert(1)" style="fill:url(//x.example)" xmlns:x="urn:x" x:y="1"`);
  expect(clean(root)).toBe(drawing(""));
  expect(clean(`<svg xmlns="http://www.w3.org/1999/xhtml" viewBox="0 0 4 3"><g/></svg>`)).toBe(
    drawing("<g/>"),
  );
});

test("what is before and after the root is left out", () => {
  const prolog = `\ufeff<?xml version="1.0" encoding="UTF-8"?>\n<?xml-stylesheet href="//x.example"?><!-- made by Ann > -->`;
  const type = `<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/[x]/svg11.dtd">\n`;
  expect(clean(`${prolog}${type}${drawing("<g/>")}<!-- Ann -->`)).toBe(drawing("<g/>"));
});

test("a link to a part of the drawing keeps its prefix, which is then declared", () => {
  const inner = '<use xlink:href="#a"/>';
  expect(clean(drawing(inner, ` ${LINKS}`))).toBe(drawing(inner, ` ${LINKS}`));
});

const laughs = Array.from({ length: 9 }, (_, i) => `<!ENTITY e${i + 1} "${`&e${i};`.repeat(10)}">`).join("");
const uses = Array.from(
  { length: 9 },
  (_, i) => `<g id="u${i + 1}">${`<use href="#u${i}"/>`.repeat(10)}</g>`,
).join("");
const refused: [string, string | Uint8Array, string][] = [
  [
    "a thousand million laughs",
    `<!DOCTYPE svg [<!ENTITY e0 "ha">${laughs}]>${drawing("&e9;")}`,
    "damaged: is damaged: it declares entities",
  ],
  [
    "a file as an entity",
    `<!DOCTYPE svg [<!ENTITY x SYSTEM "file:///etc/passwd">]>${drawing("&x;")}`,
    "damaged: is damaged: it declares",
  ],
  [
    "attributes of every element",
    `<!DOCTYPE svg [<!ATTLIST g onclick CDATA "alert(1)">]>${drawing("<g/>")}`,
    "damaged: is damaged: it declares",
  ],
  ["an entity that nobody declared", drawing("&nbsp;"), "damaged"],
  ["a thousand million uses", drawing(`<g id="u0"/>${uses}`), "too_many_pixels: repeats its parts too often"],
  ["a cut end", drawing("<g/>").slice(0, -1), "damaged"],
  ["a cut path", drawing('<path d="M0 0L4 3"/>').slice(0, 70), "damaged"],
  ["nothing but a beginning", `<?xml version="1.0"?><!-- `, "damaged: is damaged: the SVG is cut short"],
  ["elements that overlap", drawing("<g><path></g></path>"), "damaged"],
  ["an attribute twice", drawing('<g id="a" id="b"/>'), "damaged"],
  ["two roots", drawing("") + drawing(""), "damaged"],
  ["a page behind it", `${drawing("")}<html/>`, "damaged"],
  [
    "10,000 groups in one another",
    drawing("<g>".repeat(10_000) + "</g>".repeat(10_000)),
    "damaged: is damaged: ",
  ],
  ["a zero", drawing("<g id='a\0'/>"), "damaged"],
  ["a zero by its number", drawing("<g id='a&#0;'/>"), "damaged"],
  ["bytes that are no UTF-8", concat(text("<svg>"), new Uint8Array([0xc0, 0xbc]), text("</svg>")), "damaged"],
  ["UTF-16", new Uint8Array(Buffer.from(`\ufeff${drawing("")}`, "utf16le")), "unrecognised"],
  ["UTF-16 without a mark", new Uint8Array(Buffer.from(drawing(""), "utf16le")), "unrecognised"],
  ["UTF-7", `<?xml version="1.0" encoding="UTF-7"?>${drawing("+ADw-script+AD4-")}`, "damaged"],
  ["a page", "<!DOCTYPE html><svg/>", "unrecognised"],
  ["a page of XML", '<?xml version="1.0"?><html><svg/></html>', "unrecognised"],
  ["a root with a prefix", '<s:svg xmlns:s="http://www.w3.org/2000/svg"/>', "unrecognised"],
  ["no width", `<svg ${NAMESPACE} width="0" height="3"/>`, "damaged: is damaged: it has no pixels"],
  ["100,000 pixels a side", `<svg ${NAMESPACE} width="100000" height="3"/>`, "too_many_pixels"],
  [
    "too many elements",
    drawing("<g></g>".repeat(SVG_MAX_ELEMENTS)),
    "damaged: is damaged: it has too many parts",
  ],
  [
    "too many attributes",
    drawing("", ' a=""'.repeat(SVG_MAX_ATTRIBUTES)),
    "damaged: is damaged: it has too many parts",
  ],
];
test.each(refused)("%s is refused", (_, source, said) => {
  expect(reason(source).slice(0, said.length)).toBe(said);
});

test("as many elements, and as deep, as is allowed are taken", () => {
  const depth = SVG_MAX_DEPTH - 1;
  expect(reason(drawing("<g>".repeat(depth) + "</g>".repeat(depth)))).toBe("taken");
  expect(reason(drawing("<g>".repeat(depth + 1) + "</g>".repeat(depth + 1)))).toContain("nested too deeply");
  expect(reason(drawing("<g/>".repeat(SVG_MAX_ELEMENTS)))).toBe("taken");
});

test("uses that go in a circle are taken, as nobody draws them", () => {
  expect(reason(drawing('<g id="a"><use href="#b"/></g><g id="b"><use href="#a"/></g>'))).toBe("taken");
});

const sizes: [string, number, number][] = [
  ['width="40" height="30"', 40, 30],
  ['width="40px" height="30.2"', 40, 31],
  ['width="1in" height="2.54cm" viewBox="0 0 5 5"', 96, 96],
  ['width="12pt" height="1.5em"', 16, 24],
  ['viewBox="-5 -5 120 60"', 120, 60],
  ['viewBox="0,0,1024.5,1024"', 1025, 1024],
  ['width="100%" height="100%" viewBox="0 0 20 10"', 20, 10],
  ['width="200" viewBox="0 0 20 10"', 200, 100],
  ['height="200" viewBox="0 0 20 10"', 400, 200],
  ['viewBox="0 0 nobody knows"', 300, 150],
  ['width="-4" height="calc(3px)" viewBox="0 0 0 0"', 300, 150],
  ["", 300, 150],
];
test.each(sizes)("a drawing of %s is as large as a browser shows it", (attributes, width, height) => {
  expect(cleanSvg(text(`<svg ${NAMESPACE} ${attributes}/>`))).toMatchObject({ width, height });
});

test("a drawing is told by its beginning, however much is before its root", () => {
  const head = (source: string) => sniffMediaType(text(source).subarray(0, 512));
  for (const source of [
    "<svg/>",
    "\ufeff\n <svg>",
    `<?xml version="1.0"?><!DOCTYPE svg PUBLIC "a" 'b'><!-- c --><svg\n>`,
    `<!-- ${"x".repeat(600)} --><svg>`,
    `<!DOCTYPE svg PUBLIC "${"x".repeat(600)}"><svg>`,
    `${"\n".repeat(511)}<svg>`,
  ])
    expect({ source, type: head(source) }).toEqual({ source, type: "image/svg+xml" });
  for (const source of [
    "",
    "\n",
    "svg",
    "x<svg>",
    "<svgx>",
    "<html><svg/></html>",
    `<!DOCTYPE html><svg/>`,
    `<!doctype html>${" ".repeat(600)}`,
    "<?xml version='1.0'?><Error><Code>AccessDenied</Code></Error>",
    '{"a":"<svg/>"}',
  ])
    expect({ source, type: head(source) }).toEqual({ source, type: undefined });
});
