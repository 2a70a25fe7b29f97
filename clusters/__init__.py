"""Brown clusters: classes of words that tell most about the classes beside them (Brown et al. 1992; Liang 2005).

T is the number of pairs of adjacent words, n(s, t) that of a word of cluster s before one of cluster t, and a dot is
a sum over all clusters. In probabilities, as in the header of Liang's wcluster:

    p2(s, t) = n(s, t) / T         pairs of clusters
    p1(s)                          the cluster as a left and as a right side: n(s, .) / T and n(., s) / T
    q2(s, t) = p2(s, t) log (p2(s, t) / (p1(s) p1(t)))
    I        = sum over s, t of q2(s, t)
    L2(s, t) = I - I with s and t merged

`bigrams` counts the pairs, `brown` merges the pair of clusters of least L2 in a window of C + 1 clusters, with the
losses in `merge_tables`, and `exchanges` moves single words afterwards. For N words this takes O(N C^2) steps. All
compute T times these quantities, as sums of n log n.
"""
