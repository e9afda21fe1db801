import { type HeaderHints } from './headers.js';
import type { Props } from './react.js';
/** HTML that is written once: whoever writes it (or takes its place) empties it. */
export interface Resource {
    html: string;
}
export declare const SHEET_PENDING = 0;
export declare const SHEET_PRELOADED = 1;
export declare const SHEET_WRITTEN = 2;
export declare const SHEET_LATE = 3;
export interface Stylesheet {
    state: number;
    props: Props;
}
export interface StyleQueue {
    readonly precedence: string;
    rules: string;
    hrefs: string[];
    readonly sheets: Map<string, Stylesheet>;
}
export interface Hoistables {
    readonly styles: Set<StyleQueue>;
    readonly stylesheets: Set<Stylesheet>;
    suspenseyImages: boolean;
}
export interface Preamble {
    html: string | null;
    head: string | null;
    body: string | null;
}
/** `[crossOrigin, integrity]` of a preload, or none of both; null once the resource itself is there. */
export type Credentials = readonly unknown[] | null;
export declare const NO_CREDENTIALS: Credentials;
type Table = Record<string, Credentials>;
export declare class Resources {
    instructions: number;
    nextFormId: number;
    hasBody: boolean;
    hasHtml: boolean;
    stylesToHoist: boolean;
    preamble: Preamble;
    charset: string;
    viewport: string;
    hoisted: string;
    bootstrap: string;
    importMap: string;
    readonly preconnects: Set<Resource>;
    readonly fontPreloads: Set<Resource>;
    readonly highImagePreloads: Set<Resource>;
    readonly bootstrapPreloads: Set<Resource>;
    readonly scripts: Set<Resource>;
    readonly bulkPreloads: Set<Resource>;
    readonly styles: Map<string, StyleQueue>;
    /** Preloads that may still be promoted or overtaken by the resource itself. */
    readonly imagePreloads: Map<string, Resource>;
    readonly stylePreloads: Map<string, Resource>;
    readonly scriptPreloads: Map<string, Resource>;
    readonly modulePreloads: Map<string, Resource>;
    readonly dns: Table;
    readonly connections: Record<string, Table>;
    readonly imageKeys: Table;
    readonly styleKeys: Table;
    readonly scriptKeys: Table;
    readonly moduleKeys: Table;
    readonly otherKeys: Record<string, Table>;
    readonly otherModuleKeys: Record<string, Table>;
    readonly idPrefix: string;
    readonly scriptNonce: string | undefined;
    readonly styleNonce: string | undefined;
    readonly openScript: string;
    readonly openStyle: string;
    hints: HeaderHints | null;
    readonly onHeaders: ((headers: {
        Link?: string;
    }) => void) | undefined;
    constructor(options: ResourceOptions);
}
export interface BootstrapScript {
    src: string;
    integrity?: string | undefined;
    crossOrigin?: string | undefined;
}
export interface ResourceOptions {
    identifierPrefix?: unknown;
    nonce?: string | {
        script?: string;
        style?: string;
    } | undefined;
    bootstrapScriptContent?: string | undefined;
    bootstrapScripts?: readonly (string | BootstrapScript)[] | undefined;
    bootstrapModules?: readonly (string | BootstrapScript)[] | undefined;
    importMap?: unknown;
    onHeaders?: ((headers: {
        Link?: string;
    }) => void) | undefined;
    maxHeadersLength?: number | undefined;
}
export declare const SENT_COMPLETE_SEGMENT = 1;
export declare const SENT_COMPLETE_BOUNDARY = 2;
export declare const SENT_CLIENT_RENDER = 4;
export declare const SENT_STYLE_INSERTION = 8;
export declare const SENT_FORM_REPLAY = 16;
export declare const SENT_SHELL_ID = 32;
export declare const SENT_SHELL_TIME = 64;
export declare const SENT_VIEW_TRANSITIONS = 256;
/** Inline script text that cannot end its element: the s of `<script` and `</script` becomes an escape. */
export declare function escapeScript(text: string): string;
/** ` id="…"` on the first script of a shell without `<html>`, by which the client knows where the shell ends; once. */
export declare function shellId(resources: Resources): string;
export declare function linkTag(props: Props): string;
export declare function createHoistables(): Hoistables;
export declare function addHoistables(to: Hoistables, from: Hoistables): void;
/** Whether a boundary has to wait for the client's resources before it is shown, and so is better sent late. */
export declare function waitsForResources(hoistables: Hoistables, inShell: boolean): boolean;
/** The table's entry; undefined when never asked for, null when the resource itself is there. */
export declare function lookUp(table: Table, key: string): Credentials | undefined;
export declare function styleQueue(resources: Resources, precedence: string): StyleQueue;
/** Takes over what an earlier preload of the same resource said. */
export declare function adoptCredentials(props: Props, credentials: Credentials): void;
export declare function credentialsOf(options: Props | undefined | null): Credentials;
export {};
