export interface Fallback {
    /** A short, stable phrase: it is a label in metrics. */
    readonly reason: string;
    /** The component in which it was found out, where that is known. */
    readonly component?: string;
    /** The function of `react-dom/server` that was called. */
    readonly api: string;
}
export type FallbackListener = (fallback: Fallback) => void;
export interface Statistics {
    readonly renders: number;
    readonly fallbacks: number;
    readonly reasons: Record<string, number>;
}
/** Calls `listener` for every render that is left to react-dom, until the returned function is called. */
export declare function onFallback(listener: FallbackListener): () => void;
/** Since the process began. */
export declare function statistics(): Statistics;
export declare function countRender(): void;
export declare function countFallback(fallback: Fallback): void;
/** Why no render of this process can be ours; null when they can. */
export declare function reasonToDelegate(): string | null;
