"""Brown clusters of words (Brown et al. 1992; Liang 2005).

T is the number of pairs of adjacent words, n(s, t) that of a word of cluster s before one of
cluster t, c(s) the number of tokens of cluster s in the corpus. In probabilities, as in the header
of Liang's wcluster:

    p2(s, t) = n(s, t) / T         pairs of clusters
    p1(s)    = c(s) / T            clusters
    q2(s, t) = p2(s, t) log (p2(s, t) / (p1(s) p1(t)))
    I        = sum over s, t of q2(s, t)
    L2(s, t) = I - I with s and t merged

`bigrams` counts the pairs, `brown` merges the pair of clusters of least L2 in a window of C + 1
clusters, with the losses in `merge_tables`, and `exchanges` moves single words afterwards. For V
word types this takes O(V C^2) steps. All compute T times these quantities, from terms n log n.

A merge takes c(s) so that the weight of a cluster does not depend on the words that have not
entered yet. The exchanges and the report take the exact shares n(s, .) / T and n(., s) / T, where a
dot is a sum over all clusters. In running text both differ only by the ends of the corpus; within
sentences, by the ends of all sentences.
"""
