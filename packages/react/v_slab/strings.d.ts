export declare function renderString(children: unknown, mode: 'string' | 'markup', identifierPrefix: string | undefined): string;
