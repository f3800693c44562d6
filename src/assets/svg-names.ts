/*
 * What a drawing may consist of. Everything else is left out: scripts and handlers, HTML, links to other places, sounds, fonts, metadata.
 * Names as in https://www.w3.org/TR/SVG2/eltindex.html and attindex.html, https://www.w3.org/TR/filter-effects-1 and
 * https://www.w3.org/TR/css-masking-1 (checked 2026-11-23).
 */

const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

/** `a` is kept for what it holds. Its address is not, if it leads elsewhere. */
export const ELEMENTS = words(`
  svg g defs symbol use switch a title desc style
  path rect circle ellipse line polyline polygon image text tspan textPath
  linearGradient radialGradient stop pattern clipPath mask marker view
  filter feBlend feColorMatrix feComponentTransfer feComposite feConvolveMatrix feDiffuseLighting feDisplacementMap feDistantLight
  feDropShadow feFlood feFuncA feFuncB feFuncG feFuncR feGaussianBlur feImage feMerge feMergeNode feMorphology feOffset fePointLight
  feSpecularLighting feSpotLight feTile feTurbulence
  animate animateMotion animateTransform set mpath
`);

/** Those that hold nothing but text. */
export const TEXT_ONLY = words("title desc style");

/** Those whose `attributeName` says what they change. */
export const ANIMATIONS = words("animate animateMotion animateTransform set");

/** Those that may show a picture that is in the file itself. */
export const PICTURES = words("image feImage");

/** Addresses, which may lead elsewhere. */
export const REFERENCES = words("href xlink:href");

/** Attributes that an animation may change: how something looks and where it is, never what it refers to. */
export const LOOKS = words(`
  baseline-shift alignment-baseline clip-path clip-rule color-interpolation color-interpolation-filters color-rendering
  direction color display dominant-baseline fill-opacity fill-rule fill filter flood-color flood-opacity font-family font-size
  font-size-adjust font-stretch font-style font-variant font-weight image-rendering isolation letter-spacing lighting-color marker-end
  marker-mid marker-start mask-type mask mix-blend-mode opacity overflow paint-order pointer-events shape-rendering stop-color
  stop-opacity stroke-dasharray stroke-dashoffset stroke-linecap stroke-linejoin stroke-miterlimit stroke-opacity stroke-width stroke
  text-anchor text-decoration text-overflow text-rendering transform-box transform-origin unicode-bidi vector-effect visibility
  white-space word-spacing writing-mode
  cx cy d dx dy fr fx fy height offset pathLength points r rotate rx ry width x x1 x2 y y1 y2 transform gradientTransform
  patternTransform viewBox preserveAspectRatio startOffset textLength
  amplitude azimuth baseFrequency bias diffuseConstant divisor edgeMode elevation exponent intercept k1 k2 k3 k4 kernelMatrix
  kernelUnitLength limitingConeAngle numOctaves operator order pointsAtX pointsAtY pointsAtZ preserveAlpha radius scale seed slope
  specularConstant specularExponent stdDeviation stitchTiles surfaceScale tableValues targetX targetY type values xChannelSelector
  yChannelSelector z
`);

export const ATTRIBUTES: ReadonlySet<string> = new Set([
  ...LOOKS,
  ...REFERENCES,
  ...words(`
    id class style lang xml:lang xml:space role aria-label aria-labelledby aria-describedby aria-hidden version baseProfile media
    clipPathUnits maskUnits maskContentUnits patternUnits patternContentUnits gradientUnits spreadMethod filterUnits primitiveUnits
    markerUnits markerWidth markerHeight refX refY orient in in2 result mode lengthAdjust method side spacing glyph-orientation-vertical
    systemLanguage requiredExtensions
    attributeName attributeType begin dur end min max restart repeatCount repeatDur calcMode keyTimes keySplines from to by additive
    accumulate path keyPoints origin
  `),
]);
