export declare function sanitizeUrl(url: string): string;
/** The attribute with its leading space, or ''. `value` is neither null nor undefined. */
export declare function attribute(name: string, value: unknown): string;
/** The attribute under exactly this name, for the few that react-dom spells itself. */
export declare function namedAttribute(name: string, value: unknown): string;
export declare function booleanAttribute(name: string, value: unknown): string;
/** As react-dom 19 writes a property of a custom element; '' when the name or the value cannot be written. */
export declare function customAttribute(name: string, value: unknown): string;
export declare function styleAttribute(value: unknown): string;
