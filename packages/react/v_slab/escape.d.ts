/**
 * Escaping as react-dom does it: the five characters, wherever the string is put. Pure; the table of remembered results holds nothing
 * but a string and its escaped form, so that it may serve every request.
 */
export declare function escapeHtml(value: unknown): string;
export declare function escapeText(text: string): string;
